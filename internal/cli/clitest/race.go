//go:build race

package clitest

// UnderRace tells whether the race detector is on, which makes a command start ten times
// slower.
const UnderRace = true
