locals {
  machine = yamldecode(file("${path.module}/machine.yaml"))
}

resource "aws_sfn_state_machine" "decoded" {
  name       = "decoded"
  role_arn   = "arn:aws:iam::123456789012:role/decoded"
  definition = jsonencode(local.machine)
}

resource "aws_sfn_state_machine" "templated" {
  name       = "templated"
  role_arn   = "arn:aws:iam::123456789012:role/templated"
  definition = jsonencode(yamldecode(templatefile("${path.module}/machine.yaml.tftpl", { wait = 20, words = ["x", "y"] })))
}
