//go:build !race

package clitest

// UnderRace tells whether the race detector is on.
const UnderRace = false
