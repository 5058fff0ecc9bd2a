// Checks the CloudFormation templates that are its arguments with CloudFormation
// Validate and with the rules AwsSolutions of cdk-nag. It writes a line of {"file",
// "tool", "rule", "severity", "resource", "message"} for each finding.
const { App, Stack } = require('aws-cdk-lib')
const { CfnInclude } = require('aws-cdk-lib/cloudformation-include')
const { AwsSolutionsChecks } = require('cdk-nag')
const { RegoEngine, TemplateFile } = require('@aws/cloudformation-validate')

const app = new App({ analyticsReporting: false })
const engine = new RegoEngine()
const say = finding => console.log(JSON.stringify(finding))

process.argv.slice(2).forEach((file, i) => {
  for (const found of engine.validateStandard(new TemplateFile(file)).diagnostics) {
    say({ file, tool: 'cloudformation-validate', rule: found.ruleId, severity: found.severity, resource: found.entity?.logicalId ?? '', message: found.message })
  }
  const stack = new Stack(app, `Stack${i}`)
  new CfnInclude(stack, 'Template', { templateFile: file })
  for (const found of new AwsSolutionsChecks(app, { verbose: true }).validateScope(stack).violations) {
    for (const { constructPath } of found.violatingResources) {
      say({ file, tool: 'cdk-nag', rule: found.ruleName, severity: found.severity, resource: constructPath.split('/').pop(), message: found.description })
    }
  }
})
engine.free()
