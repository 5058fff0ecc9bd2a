// Checks definitions with validators that others made. It reads lines of
// {"name", "definition"}, the definition as text, and writes for each a line of
// {"name", "problems": {validator: [text]}}.
const readline = require('node:readline')
const aslValidator = require('asl-validator')
const { getLanguageService, TextDocument } = require('amazon-states-language-service')

const service = getLanguageService({})

const validators = {
  'asl-validator': text =>
    aslValidator(JSON.parse(text)).errors.map(e => `${e['Error code']}: ${e.Message}`),
  'amazon-states-language-service': async text => {
    const document = TextDocument.create('machine.asl.json', 'json', 1, text)
    const found = await service.doValidation(document, service.parseJSONDocument(document))
    return found.map(d => `line ${d.range.start.line + 1}: ${d.message}`)
  }
}

async function main () {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { name, definition } = JSON.parse(line)
    const problems = {}
    for (const [validator, check] of Object.entries(validators)) problems[validator] = await check(definition)
    console.log(JSON.stringify({ name, problems }))
  }
}

main()
