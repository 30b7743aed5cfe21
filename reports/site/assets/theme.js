try {
  const chosen = localStorage.getItem("wireproof-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch (error) {
  if (!(error instanceof DOMException)) throw error; // a browser may refuse storage; the system's theme stands
}
document.documentElement.classList.add("js");
