// Serves DynamoDB on a free port of the loopback interface, prints the port, and
// ends with its parent, which holds the other end of the standard input.
const server = require('dynalite')({ createTableMs: 0 })
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.resume().on('end', () => process.exit())
