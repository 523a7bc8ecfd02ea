import { checked, type Field, type Fields, group, kind, optional, type Read } from '../primitives/schema'
import { stylesheet } from './stylesheet'

/** Colours of the service on the pages: each `#rrggbb`. */
export interface ServiceColors extends ColorPair {
  /** For dark pages. Default: those of the suite. */
  readonly dark?: ColorPair
}

interface ColorPair {
  /** Of links and the button that allows. Must be readable on the card. Default: a blue. */
  readonly accent?: string
  /** Of the page around the card, whose text must be readable on it. Default: a grey. */
  readonly background?: string
}

interface Surroundings {
  readonly card: string
  readonly text: string
}

const light: Surroundings = { card: '#ffffff', text: '#171a21' }
const dark: Surroundings = { card: '#16191f', text: '#eceef2' }

// WCAG 2.2, 1.4.3
const leastContrast = 4.5

export const serviceStyle: Field<string> = (given, at, name) => {
  const { dark: pairInDark, ...pair } = serviceColors(given, at, name)
  const [ofLight, ofDark] = [declarationsOf(pair, light), declarationsOf(pairInDark, dark)]
  const inDark = ofDark === '' ? '' : `@media (prefers-color-scheme: dark) { :root { ${ofDark} } }\n`
  // Dark pages keep the suite's colours: what is readable on a white card may not be so on a dark one.
  const inLight = ofLight === '' ? '' : `@media not (prefers-color-scheme: dark) { :root { ${ofLight} } }\n`
  return `${stylesheet}${inLight}${inDark}`
}

function declarationsOf({ accent, background }: Read<ReturnType<typeof pairOn>>, { card }: Surroundings) {
  const declarations = accent === undefined ? [] : accentDeclarations(accent, card)
  return (background === undefined ? declarations : [...declarations, `--page: ${background};`]).join(' ')
}

// White or black has a contrast of 4.5 to any colour.
function accentDeclarations(accent: string, card: string): readonly string[] {
  const onAccent = contrastOf(accent, '#ffffff') >= leastContrast ? '#ffffff' : '#000000'
  // Away from the text: the contrast grows.
  const hover = mixed(accent, onAccent === '#ffffff' ? '#000000' : '#ffffff', 0.12)
  return [
    `--accent: ${accent};`,
    `--accent-hover: ${hover};`,
    `--on-accent: ${onAccent};`,
    `--link: ${accent};`,
    `--tint: ${mixed(card, accent, 0.1)};`,
    `--on-tint: ${accent};`,
  ]
}

const channels = [1, 3, 5] as const
const channelOf = (color: string, at: number): number => Number.parseInt(color.slice(at, at + 2), 16)

function mixed(from: string, to: string, share: number): string {
  const digits = channels.map((at) =>
    Math.round(channelOf(from, at) * (1 - share) + channelOf(to, at) * share)
      .toString(16)
      .padStart(2, '0'),
  )
  return `#${digits.join('')}`
}

/** 1 to 21 (WCAG 2.2, relative luminance). */
function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels.map((at) => {
    const share = channelOf(color, at) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const colorBeside = (what: string, other: string) =>
  optional(
    checked(kind(isColor, "must be a colour such as '#3a56d4'."), (color, wrong) => {
      const contrast = contrastOf(color, other)
      if (contrast < leastContrast)
        wrong(
          '',
          `must have a contrast of at least ${leastContrast} to the colour of its ${what}, ${other}; it has ${contrast.toFixed(1)}.`,
        )
    }),
  )

const isColor = (value: unknown): value is string =>
  typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value)

const pairOn = ({ card, text }: Surroundings) =>
  ({ accent: colorBeside('card', card), background: colorBeside('text', text) }) satisfies Fields<ColorPair>

const serviceColors = group({ ...pairOn(light), dark: group(pairOn(dark)) } satisfies Fields<ServiceColors>)
