import type { Chance } from '../../support/chance'
import { formEncode } from './message'

type Bend = (value: string, chance: Chance, mark: string) => string

/** Cuts a value somewhere, and puts it together again. */
const at =
  (join: (before: string, after: string, chance: Chance, mark: string) => string): Bend =>
  (value, chance, mark) => {
    const place = chance.below(value.length + 1)
    return join(value.slice(0, place), value.slice(place), chance, mark)
  }
const cut = at((before) => before)
const changeByte = at(
  (before, after, chance) => before + String.fromCharCode(chance.below(256)) + after.slice(1),
)
// Still well formed, where most values are.
const changeLetter = at((before, after, chance) => before + chance.below(36).toString(36) + after.slice(1))
const inserted = (what: string) =>
  at((before, after, _chance, mark) => before + what.replace('MARK', mark) + after)
const replaced =
  (what: string): Bend =>
  (_value, _chance, mark) =>
    what.replace('MARK', mark)
const turned = (one: string) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase())
const turnCase = at((before, after) => before + turned(after.charAt(0)) + after.slice(1))
const percentAll = (value: string) =>
  value.replaceAll(/[^]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`)

const insertions =
  '%c0%ae %e0%80%af %ff%fe \xff\xfe \xc3\xa4 %00 \x00 %0d%0aX-Injected:%20MARK %0a \x7f %ed%a0%80 ' +
  '%ed%b0%80%ed%a0%80 %uD800 % %zz + %20 " %22%3E%3Cscript%3EMARK%3C/script%3E %e2%80%ae & = # ,'
const replacements =
  '__proto__ constructor toString MARK null undefined 0 -1 99999999999999999999999999 9e999 NaN * %5B%5D ' +
  '%7B%22MARK%22%3A1%7D https%3A%2F%2Felsewhere.example%2FMARK javascript%3Aalert(MARK) ' +
  'https%3A%2F%2Fbook.example%40elsewhere.example%2Fcallback https%3A%2F%2Fbook.example%2Fcallback%2F..%2FMARK'

/** Ways to bend one value as it stands on the wire, where each character is one byte. */
export const bends: readonly [Bend, ...Bend[]] = [
  () => '',
  cut,
  turnCase,
  changeByte,
  changeByte,
  ...Array.from({ length: 6 }, () => changeLetter),
  (value) => value.toUpperCase(),
  (value, _chance, mark) => value + mark,
  (value, _chance, mark) => value + mark.repeat(300),
  (value) => value + 'A'.repeat(70 * 1024),
  (value) => value + value,
  percentAll,
  (value) => percentAll(percentAll(value)),
  formEncode,
  (value) => value.replaceAll('.', '%c0%ae').replaceAll('_', '%c1%9f'),
  ...['\r\nX-Injected: MARK', ' ', '\t', ...insertions.split(' ')].map(inserted),
  ...replacements.split(' ').map(replaced),
]

/** Names that other parts of the world give a meaning. */
const [first, ...others] = (
  '__proto__ constructor prototype __proto__[admin] hasOwnProperty toString scope[] scope%5B%5D client_id[0] code%00 ' +
  '%FF redirect_uri. request request_uri client_assertion client_assertion_type resource audience prompt ' +
  'response_mode authorization_request state'
).split(' ')
export const hostileNames: readonly [string, ...string[]] = ['', ' code', String(first), ...others]
