import * as fc from 'fast-check'

// The units `binary` and `grapheme` of fast-check list a million code points first, which takes a second in every file.
const any = fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xffff }), fc.nat({ max: 0x10ffff }))
const isSurrogate = (code: number) => code >= 0xd800 && code <= 0xdfff
const whole = any.map((code) => (isSurrogate(code) ? 0x20 : code))

type Lengths = Pick<fc.StringConstraints, 'minLength' | 'maxLength'>
const textOf = (code: fc.Arbitrary<number>, lengths: Lengths) =>
  fc.array(code, lengths).map((codes) => String.fromCodePoint(...codes))

/** Texts of any characters, lone surrogates included. */
export const anyText = (lengths: Lengths = {}): fc.Arbitrary<string> => textOf(any, lengths)

/** Texts that UTF-8 has. */
export const wholeText = (lengths: Lengths = {}): fc.Arbitrary<string> => textOf(whole, lengths)
