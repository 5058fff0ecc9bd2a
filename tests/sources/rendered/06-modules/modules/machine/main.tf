variable "name" {}

variable "definition" {
  type = any
}

resource "aws_sfn_state_machine" "this" {
  name       = var.name
  role_arn   = "arn:aws:iam::123456789012:role/${var.name}"
  definition = jsonencode(merge(var.definition, { Comment = "${var.name}: ${path.root}" }))
}
