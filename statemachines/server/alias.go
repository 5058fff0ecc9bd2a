package server

// alias is a name that leads to one version, or to two by weight.
type alias struct {
	routes []route
}

type route struct {
	version int
	weight  int // in percent
}
