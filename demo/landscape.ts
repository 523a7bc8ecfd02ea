/** What a landscape is drawn from. */
export interface Scenery {
  readonly seed: number
  readonly sky: readonly [top: string, horizon: string]
  readonly sun: { readonly x: number; readonly y: number; readonly radius: number; readonly color: string }
  /** Colours of the mountain ridges, far to near. */
  readonly ridges: readonly string[]
}

const width = 800
const height = 600

/** Draws mountains before a sky as SVG: the same seed, the same mountains. */
export function landscape({ seed, sky: [top, horizon], sun, ridges }: Scenery): string {
  const nearer = (index: number) => index / Math.max(1, ridges.length - 1)
  const drawn = ridges.map((color, index) => {
    const line = ridgeLine(seed + index * 13, 300 + 190 * nearer(index), 70 - 26 * nearer(index))
    return `<path d="M0 ${height}L${line}L${width} ${height}Z" fill="${color}"/>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<defs>
<linearGradient id="sky" x2="0" y2="1"><stop stop-color="${top}"/><stop offset="0.75" stop-color="${horizon}"/></linearGradient>
<radialGradient id="glow"><stop stop-color="${sun.color}" stop-opacity="0.55"/><stop offset="0.5" stop-color="${sun.color}" stop-opacity="0.15"/><stop offset="1" stop-color="${sun.color}" stop-opacity="0"/></radialGradient>
</defs>
<rect width="${width}" height="${height}" fill="url(#sky)"/>
<circle cx="${sun.x}" cy="${sun.y}" r="${sun.radius * 6}" fill="url(#glow)"/>
<circle cx="${sun.x}" cy="${sun.y}" r="${sun.radius}" fill="${sun.color}"/>
${drawn.join('\n')}
</svg>
`
}

// Each octave is twice as fine and half as high as the one before, which is what makes a ridge look like rock.
function ridgeLine(seed: number, base: number, roughness: number): string {
  const points: string[] = []
  for (let x = 0; x <= width; x += 8) {
    let y = base
    for (let octave = 0; octave < 5; octave++)
      y -= noise(seed + octave * 57, (x / 260) * 2 ** octave) * roughness * 0.5 ** octave
    points.push(`${x} ${y.toFixed(1)}`)
  }
  return points.join('L')
}

// Value noise: random heights at whole numbers, a smooth curve between them.
function noise(seed: number, at: number): number {
  const left = Math.floor(at)
  const part = at - left
  const smooth = part * part * (3 - 2 * part)
  return height01(seed, left) * (1 - smooth) + height01(seed, left + 1) * smooth
}

function height01(seed: number, at: number): number {
  const wave = Math.sin(seed * 127.1 + at * 311.7) * 43758.5453
  return (wave - Math.floor(wave)) * 2 - 0.5
}
