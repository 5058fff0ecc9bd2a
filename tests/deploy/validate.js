// Checks the CloudFormation and SAM templates that are its arguments with what AWS
// ships for that. It writes a line of {"file", "severity", "rule", "message"} for
// each problem.
const { RegoEngine, TemplateFile } = require('@aws/cloudformation-validate')

const engine = new RegoEngine()
for (const file of process.argv.slice(2)) {
  for (const { severity, ruleId, message } of engine.validateStandard(new TemplateFile(file)).diagnostics) {
    console.log(JSON.stringify({ file, severity, rule: ruleId, message }))
  }
}
engine.free()
