// Evaluates expressions of JSONata. It reads lines of JSON, {"text", "result"},
// where the expression has the result as $states.result, and writes one for
// each: {"value"} or {}, if that is nothing, or {"error"}; with "depth", how
// deep evaluations nested, and "ms", how long they took.
const jsonata = require('jsonata')
const readline = require('readline')

async function evaluate ({ text, result }) {
  let depth = 0
  const answer = { depth: 0 }
  const started = performance.now()
  try {
    const expression = jsonata(text)
    expression.assign(Symbol.for('jsonata.__evaluate_entry'), () => {
      answer.depth = Math.max(answer.depth, ++depth)
    })
    expression.assign(Symbol.for('jsonata.__evaluate_exit'), () => { depth-- })
    answer.value = await expression.evaluate(undefined, { states: { result } })
    if (typeof answer.value === 'function') {
      throw new Error('the value is a function')
    }
  } catch (error) {
    answer.error = `${error.code ?? ''} ${error.message}`
  }
  answer.ms = performance.now() - started
  return answer
}

async function main () {
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    process.stdout.write(JSON.stringify(await evaluate(JSON.parse(line))) + '\n')
  }
}

main()
