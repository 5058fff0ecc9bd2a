locals {
  tables = ["orders", "clients"]
}

module "export" {
  source   = "./modules/export"
  for_each = toset(local.tables)
  table    = each.value
}

module "one" {
  source = "./modules/export"
  table  = "one"
  wait   = 120
  states = { Tell = { Type = "Pass", Result = { told = true }, End = true } }
  next   = "Tell"
}
