package compile

import "github.com/jobpoller/jobpoller/statemachines/asl"

// Variables is a loop of Task, Choice and Wait in JSONata. It takes every
// waiter whose errors Step Functions tells apart, and waits as the waiter
// says: exponential backoff with jitter up to a deadline.
const Variables Strategy = "variables"

type variables struct{}

func (variables) traits() traits {
	return traits{summary: "Task, Choice and Wait in JSONata. Takes most waiters; delays grow and vary.", language: asl.JSONata, delays: drawn, ownTask: true}
}

func (variables) take(d *draft) { newPollLoop(d).judge() }

func (variables) turn(*plan) turn { return pollLoopTurn }

func (variables) polls(p *plan) int { return p.pollsByDraw() }

func (variables) states(d *draft) states { return newPollLoop(d).pollLoop() }
