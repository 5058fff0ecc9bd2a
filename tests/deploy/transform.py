# Turns a SAM template into a CloudFormation template as AWS does, on standard
# output. Files beside the template get the places in S3 that sam deploy gives them.
import json
import sys

from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse


class NoManagedPolicies:
    """Stands for the names of AWS's managed policies; the templates name none."""

    def load(self):
        return {}


with open(sys.argv[1], encoding="utf-8") as file:
    template = yaml_parse(file.read())
for resource in template["Resources"].values():
    properties = resource.get("Properties", {})
    for name in ("CodeUri", "DefinitionUri"):
        if name in properties:
            properties[name] = "s3://artifacts/" + properties[name]
try:
    json.dump(transform(template, {}, NoManagedPolicies()), sys.stdout, indent=2)
except InvalidDocumentException as e:
    sys.exit("\n".join([e.message] + [cause.message for cause in e.causes]))
