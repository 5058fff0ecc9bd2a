variable "table" {
  type = string
}

variable "wait" {
  type    = number
  default = 60
}

variable "states" {
  default = { End = { Type = "Succeed" } }
}

variable "next" {
  default = "End"
}

module "machine" {
  source     = "../machine"
  name       = "export-${var.table}"
  definition = local.definition
}

locals {
  definition = {
    StartAt = "Wait"
    States = merge({
      Wait = { Type = "Wait", Seconds = var.wait, Next = var.next }
    }, var.states)
  }
}
