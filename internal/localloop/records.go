package localloop

// ClaimPoller stands for a poller in the keys of claims: of the start records by which one
// run alone has a name. No poller has the name: those of functions and states do not look
// like that.
const ClaimPoller = "jobpoller run"

// Bucket has the start records on this machine.
const Bucket = "jobpoller"

// RecordsFolder has the start records of a server's functions, in the folder of its data.
const RecordsFolder = "start-records"
