"""Storm multilang: the references, and test programs around libraries. They share nothing with the specification."""
