variable "stage" {
  default = "dev"
}

variable "wait" {
  type    = number
  default = 1
}

variable "tags" {
  type    = list(string)
  default = []
}

resource "aws_sfn_state_machine" "valued" {
  name     = "valued"
  role_arn = "arn:aws:iam::123456789012:role/valued"
  definition = jsonencode({
    Comment = "${var.stage}: ${join(", ", var.tags)}"
    StartAt = "Wait"
    States  = { Wait = { Type = "Wait", Seconds = var.wait, End = true } }
  })
}
