"""The environment of page templates: texts are escaped, and a variable that is missing is an error."""

import jinja2


def page_templates(*packages: str) -> jinja2.Environment:
    """Return the environment of the templates of some packages; those of the first one come first."""
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment
