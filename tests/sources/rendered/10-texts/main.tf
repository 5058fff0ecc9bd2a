locals {
  query = <<-SQL
      SELECT *
        FROM orders
      WHERE note = "a\b"
    SQL
  branches = flatten([for t in ["x", "y"] : [for n in range(2) : {
    StartAt = "${t}${n}"
    States  = { "${t}${n}" = { Type = "Pass", Result = substr("abcdef", n, 3), End = true } }
  }]])
}

resource "aws_sfn_state_machine" "texts" {
  name     = "texts"
  role_arn = "arn:aws:iam::123456789012:role/texts"
  definition = <<-JSON
    {
      "StartAt": "Ask",
      "States": {
        "Ask": {
          "Type": "Pass",
          "Result": ${jsonencode({ query = trimspace(local.query), words = split(",", "ä,ö,😀"), none = null, big = 12345678901, small = 0.1 })},
          "Next": "All"
        },
        "All": {
          "Type": "Parallel",
          "Branches": ${indent(6, jsonencode(local.branches))},
          "Next": "%{if length(local.branches) == 4}Four%{else}Other%{endif}"
        },
        "Four": {"Type": "Succeed"},
        "Other": {"Type": "Fail", "Cause": ${jsonencode(chomp(local.query))}}
      }
    }
  JSON
}
