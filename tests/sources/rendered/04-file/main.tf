resource "aws_sfn_state_machine" "plain" {
  name       = "plain"
  role_arn   = "arn:aws:iam::123456789012:role/plain"
  definition = file("${path.module}/machine.asl.json")
}

resource "aws_sfn_state_machine" "replaced" {
  name       = "replaced"
  role_arn   = "arn:aws:iam::123456789012:role/replaced"
  definition = replace(replace(file("machine.asl.json"), "__WAIT__", "45"), "/\"Comment\": \"[^\"]*\"/", "\"Comment\": \"none\"")
}
