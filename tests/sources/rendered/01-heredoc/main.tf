variable "crawler" {
  type    = string
  default = "nightly \"orders\""
}

variable "wait" {
  default = 30
}

locals {
  done = "READY"
}

resource "aws_lambda_function" "load" {
  function_name = "load"
  role          = "arn:aws:iam::123456789012:role/load"
  filename      = "load.zip"
  handler       = "bootstrap"
  runtime       = "provided.al2023"
}

resource "aws_sfn_state_machine" "crawl" {
  name     = "crawl"
  role_arn = "arn:aws:iam::123456789012:role/crawl"

  definition = <<EOF
{
  "Comment": "costs $${price}, 100 %%{sure}",
  "StartAt": "Wait",
  "States": {
    "Wait": {"Type": "Wait", "Seconds": ${var.wait}, "Next": "Get"},
    "Get": {
      "Type": "Task",
      "Resource": "arn:aws:states:::aws-sdk:glue:getCrawler",
      "Parameters": {"Name": ${jsonencode(var.crawler)}},
      "Next": "Done?"
    },
    "Done?": {
      "Type": "Choice",
      "Choices": [{"Variable": "$.Crawler.State", "StringEquals": "${local.done}", "Next": "Load"}],
      "Default": "Wait"
    },
    "Load": {"Type": "Task", "Resource": "${aws_lambda_function.load.arn}:live", "End": true}
  }
}
EOF
}
