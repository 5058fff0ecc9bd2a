locals {
  steps = ["first", "second", "third"]
}

resource "aws_sfn_state_machine" "steps" {
  name     = "steps"
  role_arn = "arn:aws:iam::123456789012:role/steps"
  definition = templatefile("${path.module}/templates/steps.json.tftpl", {
    steps  = local.steps
    notify = length(local.steps) > 2
    wait   = 15
    names  = { for i, s in local.steps : s => "${i}-${upper(s)}" }
  })
}
