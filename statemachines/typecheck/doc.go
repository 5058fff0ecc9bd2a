// Package typecheck checks state machines against the models of the services
// that they call: what Tasks take, give, and pass on.
//
// A [Value] is what is known of a JSON value: the types, members and strings that it
// may have, and whether it may be missing. An [Env] is what is known where a state is
// entered: its input and the variables. [New] finds the Env of every state over all
// ways to it. Joins unite what is known, and loops soon give up what changes.
//
// [Checker.Step] takes one state from any Env: it returns the ways out that can be
// taken, each with the Env of the next state. So a caller can ask what one answer of
// a service leads to:
//
//	state := machine.State("GetStatus")
//	result := typecheck.Narrow(checker.Result(state), []string{"QueryExecution", "Status", "State"}, "CANCELLED")
//	for _, way := range checker.Step(state, checker.Input(state), result) {
//		// way.To is entered with way.Env
//	}
//
// [FindDemands] goes the other way: what states read of what nobody knows. [Draw] makes
// up a value that has it.
//
// What is not known gives no finding. A path that always fails is reported, and what
// it selects is unknown from there on.
package typecheck
