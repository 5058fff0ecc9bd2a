package cli

// recordPrefix begins the keys of start records, where no flag and no variable says
// otherwise.
const recordPrefix = "jobpoller"

// claimPoller stands for a poller in the keys of claims. No poller has the name: those
// of functions and states do not look like that.
const claimPoller = "jobpoller run"
