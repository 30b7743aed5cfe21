"""How a template looks in each language, and how one is built and started."""

from __future__ import annotations

import keyword
import re
import textwrap
from abc import ABC, abstractmethod
from dataclasses import dataclass

WIDTH = 116
FILL = "Write what is still to be written; `wireproof check` says what is missing."


@dataclass(frozen=True)
class Role:
    """A role, and what it is told to do: names of ops with a sentence each. Without ops it is a filter."""

    name: str
    what: str
    hint: str
    ops: tuple[tuple[str, str], ...] = ()
    at_once: tuple[str, ...] = ()


class Language(ABC):
    """`kit` and `file` are the names of the two files, `others` of what stands beside the kit; `build` and `run` are
    commands in the folder that holds them; `needs` is what must be there for them; `gap` stands between ops."""

    name: str
    kit: str
    file: str
    others: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    gap: str

    @abstractmethod
    def head(self, role: Role) -> str:
        """What comes first."""

    @abstractmethod
    def op(self, name: str, what: str) -> str:
        """A function that carries out one op."""

    @abstractmethod
    def tail(self, role: Role) -> str:
        """The loop."""


def _wrapped(text: str, before: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDTH, initial_indent=before, subsequent_indent=before))


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _about(role: Role) -> str:
    return f"{role.what}, told what to do. {FILL} {role.hint}"


class Python(Language):
    """Functions and a dict of them."""

    name, kit, file = "python", "kit.py", "testee.py"
    run = ("{python}", "testee.py")
    needs = ("python3",)
    gap = "\n\n\n"

    def head(self, role: Role) -> str:
        """The docstring and imports."""
        about = "\n".join(textwrap.wrap(_about(role), WIDTH - 3))
        return f'"""{about}"""\n\nimport kit' + ("" if role.ops else "\n\n\n" + self._codec())

    def _codec(self) -> str:
        what = "Decode octets that are one value, encode it again, and give the octets; raise for what is refused."
        return f'def again(octets):\n    """{what}"""\n    raise kit.Todo("again")'

    def op(self, name: str, what: str) -> str:
        """A function."""
        text = what.replace("`", "")
        lines = textwrap.wrap(f'"""{text}', WIDTH, subsequent_indent="    ", initial_indent="    ")
        return f"def {self._name(name)}(given):\n" + "\n".join(lines) + f'"""\n    raise kit.Todo("{name}")'

    def _name(self, name: str) -> str:
        name = re.sub("[A-Z]", lambda found: "_" + found[0].lower(), name)
        return f"{name}_" if keyword.iskeyword(name) or name in ("next", "tuple") else name

    def tail(self, role: Role) -> str:
        """The loop."""
        if not role.ops:
            return 'if __name__ == "__main__":\n    kit.serve_filter(again)\n'
        ops = "".join(f'    "{name}": {self._name(name)},\n' for name, _ in role.ops)
        quick = f", at_once={list(role.at_once)!r}".replace("'", '"') if role.at_once else ""
        return f'OPS = {{\n{ops}}}\n\nif __name__ == "__main__":\n    kit.serve(OPS{quick})\n'


class JavaScript(Language):
    """Methods of an object."""

    name, kit, file = "javascript", "kit.mjs", "testee.mjs"
    run = ("node", "testee.mjs")
    needs = ("node",)
    gap = "\n"

    def head(self, role: Role) -> str:
        """Imports and the beginning of the loop."""
        about = _wrapped(_about(role), "// ")
        if role.ops:
            return f'{about}\nimport {{ serve, Todo }} from "./kit.mjs";\n\nconst ops = {{'
        what = "Decode octets that are one value, encode it again, and give the octets; throw for what is refused."
        again = f'// {what}\nfunction again(octets) {{\n  throw new Todo("again");\n}}'
        return f'{about}\nimport {{ serveFilter, Todo }} from "./kit.mjs";\n\n{again}\n'

    def op(self, name: str, what: str) -> str:
        """A method."""
        says = _wrapped(what.replace("`", ""), "  // ")
        return f'{says}\n  async {name}(given) {{\n    throw new Todo("{name}");\n  }},'

    def tail(self, role: Role) -> str:
        """The loop."""
        if not role.ops:
            return "await serveFilter(again);\n"
        quick = f", {list(role.at_once)!r}".replace("'", '"') if role.at_once else ""
        return f"}};\n\nawait serve(ops{quick});\n"


class Go(Language):
    """Functions of package main."""

    name, kit, file = "go", "kit.go", "testee.go"
    others = ("go.mod",)
    build = ("go", "build", "-o", "testee", ".")
    run = ("./testee",)
    needs = ("go",)
    gap = "\n\n"

    def head(self, role: Role) -> str:
        """The package."""
        about = _wrapped(_about(role), "// ")
        if role.ops:
            return f"{about}\npackage main"
        what = (
            "// again decodes octets that are one value, encodes it again, and gives the octets; an error refuses them."
        )
        again = 'func again(octets []byte) ([]byte, error) { return nil, todo("again") }'
        return f"{about}\npackage main\n\n{what}\n{again}"

    def op(self, name: str, what: str) -> str:
        """A function."""
        says = _wrapped(what.replace("`", ""), "// ")
        head = f"func do{_camel(name)}(given request) (any, error)"
        return f'{says}\n{head} {{ return nil, todo("{name}") }}'

    def tail(self, role: Role) -> str:
        """The loop."""
        if not role.ops:
            return "func main() { serveFilter(again) }\n"
        widest = max(len(name) for name, _ in role.ops)
        ops = "".join(f'\t\t"{name}":{" " * (widest - len(name) + 1)}do{_camel(name)},\n' for name, _ in role.ops)
        quick = "".join(f', "{name}"' for name in role.at_once)
        return f"func main() {{\n\tserve(map[string]op{{\n{ops}\t}}{quick})\n}}\n"


class Java(Language):
    """Static methods."""

    name, kit, file = "java", "Kit.java", "Testee.java"
    build = ("javac", "-d", "classes", "Kit.java", "Testee.java")
    run = ("java", "-cp", "classes", "Testee")
    needs = ("java", "javac")
    gap = "\n\n"

    def head(self, role: Role) -> str:
        """The class."""
        about = _wrapped(_about(role), "// ")
        if role.ops:
            imports = "import java.util.LinkedHashMap;\nimport java.util.Map;\nimport kit.Kit;"
            return f"{about}\n{imports}\n\npublic final class Testee {{"
        what = "Decode octets that are one value, encode it again, and give the octets; throw for what is refused."
        again = f'  /** {what} */\n  static byte[] again(byte[] octets) {{\n    throw new Kit.Todo("again");\n  }}'
        return f"{about}\nimport kit.Kit;\n\npublic final class Testee {{\n{again}"

    def op(self, name: str, what: str) -> str:
        """A method."""
        lines = _wrapped(what.replace("`", ""), "   * ")
        head = f"  static Object do{_camel(name)}(Map<String, Object> given) throws Exception {{"
        return f'  /**\n{lines}\n   */\n{head}\n    throw new Kit.Todo("{name}");\n  }}'

    def tail(self, role: Role) -> str:
        """The loop."""
        begin = "  public static void main(String[] arguments) throws Exception {\n"
        if not role.ops:
            return f"{begin}    Kit.serveFilter(Testee::again);\n  }}\n}}\n"
        ops = "".join(f'    ops.put("{name}", Testee::do{_camel(name)});\n' for name, _ in role.ops)
        quick = "".join(f', "{name}"' for name in role.at_once)
        made = "    Map<String, Kit.Op> ops = new LinkedHashMap<>();\n"
        return f"{begin}{made}{ops}    Kit.serve(ops{quick});\n  }}\n}}\n"


class Ruby(Language):
    """Lambdas in a hash."""

    name, kit, file = "ruby", "kit.rb", "testee.rb"
    run = ("ruby", "testee.rb")
    needs = ("ruby",)
    gap = "\n\n"

    def head(self, role: Role) -> str:
        """The kit."""
        return f"{_wrapped(_about(role), '# ')}\nrequire_relative 'kit'" + ("\n\nops = {}" if role.ops else "")

    def op(self, name: str, what: str) -> str:
        """A lambda."""
        says = _wrapped(what.replace("`", ""), "# ")
        return f"{says}\nops['{name}'] = lambda do |given|\n  raise Kit::Todo, '{name}'\nend"

    def tail(self, role: Role) -> str:
        """The loop."""
        if not role.ops:
            what = "Decode octets that are one value, encode it again, and give the octets; raise for what is refused."
            return f"# {what}\nKit.serve_filter do |octets|\n  raise Kit::Todo, 'again'\nend\n"
        quick = f", at_once: %w[{' '.join(role.at_once)}]" if role.at_once else ""
        return f"Kit.serve(ops{quick})\n"


LANGUAGES: tuple[Language, ...] = (Python(), JavaScript(), Go(), Java(), Ruby())
