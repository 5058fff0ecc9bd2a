package lint

import "github.com/jobpoller/jobpoller/pollcore/catalog"

// Entry are the findings of a waiter or job of a catalogue.
type Entry struct {
	Service   string       `json:"service"` // its key
	Name      string       `json:"name"`
	Kind      catalog.Kind `json:"kind"`
	Operation string       `json:"operation"`
	Findings  []Finding    `json:"findings"`
}

// Catalog checks all waiters and jobs of a catalogue, or those of one service
// if it is not empty, and returns all, in the catalogue's order, with or
// without findings. Its error is that of reading the catalogue.
func Catalog(c *catalog.Catalog, service string, o Options) ([]Entry, error) {
	listings, err := c.List()
	if err != nil {
		return nil, err
	}
	if service != "" {
		only, err := c.Find(service)
		if err != nil {
			return nil, err
		}
		listings = []catalog.Listing{*only}
	}
	var entries []Entry
	for _, l := range listings {
		for _, listed := range l.Entries {
			e, err := c.Lookup(l.Key, listed.Name)
			if err != nil {
				return nil, err
			}
			entries = append(entries, Entry{
				Service: l.Key, Name: e.Name, Kind: e.Kind, Operation: e.Operation.Name, Findings: Waiter(e.Waiter, e.Operation, o),
			})
		}
	}
	return entries, nil
}
