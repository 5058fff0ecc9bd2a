package plan

// resolution is what a lateness is found to: half a nanosecond, or such a share.
const resolution = 5e-10

// findFall finds the place from 0 to high behind which f, which never rises, is no longer
// above 0: by halving. Now and then it looks on both sides of where the straight line
// between the ends is 0, since f is made of straight pieces where the durations are.
func findFall(high float64, f func(x float64) float64) float64 {
	const halvings = 6 // before a look
	enough := max(resolution, high*0x1p-50)
	low, above, below := 0.0, 0.0, 0.0
	look := func(x float64) {
		if x <= low || x >= high {
			return
		}
		if y := f(x); y > 0 {
			low, above = x, y
		} else {
			high, below = x, y
		}
	}
	for n := 1; high-low > enough; n++ {
		look((low + high) / 2)
		if n%halvings == 0 && above > below {
			x := low + (high-low)*above/(above-below)
			look(x + enough*0.49)
			look(x - enough*0.49)
		}
	}
	return high
}
