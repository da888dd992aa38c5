// Pictures of a part of the window, and with fewer bytes.

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"

	"example.com/informer/docs/lab/browser"
)

// croppedScreenshot draws a frame around the elements that match outline. It returns the part of
// the window from the top to the bottom of the elements that match crop, in its full width.
func croppedScreenshot(page *browser.Page, crop, outline string) ([]byte, error) {
	edges, err := browser.Eval[[]float64](page, fmt.Sprintf(`(() => {
		for (const outlined of document.querySelectorAll(%q)) {
			outlined.style.outline = "3px solid #f0883e";
			outlined.style.outlineOffset = "4px";
		}
		const all = [...document.querySelectorAll(%q)].map(element => element.getBoundingClientRect());
		return [Math.min(...all.map(({ top }) => top)) - 8, Math.max(...all.map(({ bottom }) => bottom)) + 12];
	})()`, outline, crop))
	if err != nil {
		return nil, err
	}
	screenshot, err := page.Screenshot()
	if err != nil {
		return nil, err
	}
	return cropPNG(screenshot, int(edges[0]), int(edges[1]))
}

// cropPNG returns the part of an image between two heights.
func cropPNG(text []byte, top, bottom int) ([]byte, error) {
	whole, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	part := whole.(interface {
		SubImage(image.Rectangle) image.Image
	}).SubImage(image.Rect(0, top, whole.Bounds().Dx(), bottom))
	var cropped bytes.Buffer
	if err := png.Encode(&cropped, part); err != nil {
		return nil, err
	}
	return cropped.Bytes(), nil
}

// shrinkPNG returns an image with at most 256 colours, which needs about half as many bytes: the
// most frequent ones, which are those of surfaces, and of others that look alike only one. A page
// of text has hundreds at the edges of its letters.
func shrinkPNG(text []byte) ([]byte, error) {
	whole, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	bounds, count := whole.Bounds(), map[color.Color]int{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[whole.At(x, y)]++
		}
	}
	byCount := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	var palette color.Palette
	alike := map[[3]uint32]bool{}
	for _, c := range byCount {
		red, green, blue, _ := c.RGBA()
		likeness := [3]uint32{red >> 12, green >> 12, blue >> 12}
		if isFrequent := len(palette) < 16; isFrequent || !alike[likeness] && len(palette) < 256 {
			palette = append(palette, c)
		}
		alike[likeness] = true
	}
	few := image.NewPaletted(bounds, palette)
	nearest := map[color.Color]uint8{}
	for _, c := range byCount {
		nearest[c] = uint8(palette.Index(c))
	}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			few.SetColorIndex(x, y, nearest[whole.At(x, y)])
		}
	}
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&small, few)
	return small.Bytes(), err
}
