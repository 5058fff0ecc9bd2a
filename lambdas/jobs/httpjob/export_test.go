package httpjob

// CheckAddress is for tests: not every machine can dial every kind of address.
var CheckAddress = checkAddress
