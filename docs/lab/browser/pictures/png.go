// Pictures of a part of the window.

package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"

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
