// Package types has a union as the SDK generates it, in a package named as the
// SDK names its own.
package types

// Palette is a union of a name and colours.
type Palette interface{ isPalette() }

type (
	// PaletteMemberRGB is a Palette.
	PaletteMemberRGB struct{ Value []int32 }
	// PaletteMemberName is a Palette.
	PaletteMemberName struct{ Value Shade }
	// Shade is an enum.
	Shade string
)

func (*PaletteMemberRGB) isPalette()  {}
func (*PaletteMemberName) isPalette() {}
