"""Names that exist, so that well-formed requests get as far as a provider: the document leaves open what a deployment offers."""

import schemathesis

CHAT = {"enum": ["sim-small", "sim-large", "sim-measured"]}
MODELS = {
    "ChatCompletionRequest": CHAT,
    "CompletionRequest": CHAT,
    "EmbeddingRequest": {"enum": ["sim-embed"]},
}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    schemas = raw_schema["components"]["schemas"]
    for name, model in MODELS.items():
        schemas[name]["properties"]["model"] = model
    schemas["GwOptions"]["properties"]["region"] = {"enum": ["us-east", "eu-north", "eu-west", None]}
