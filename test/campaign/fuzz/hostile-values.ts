import type { Chance } from '../../support/races/chance'
import { formEncode } from './message'

type Bend = (value: string, chance: Chance, mark: string) => string

const cut: Bend = (value, chance) => value.slice(0, chance.below(value.length + 1))
const changeByte: Bend = (value, chance) => {
  const at = chance.below(value.length + 1)
  return value.slice(0, at) + String.fromCharCode(chance.below(256)) + value.slice(at + 1)
}
// Still well formed, where most values are.
const changeLetter: Bend = (value, chance) => {
  const at = chance.below(value.length + 1)
  return value.slice(0, at) + chance.below(36).toString(36) + value.slice(at + 1)
}
const inserted =
  (what: string): Bend =>
  (value, chance, mark) => {
    const at = chance.below(value.length + 1)
    return value.slice(0, at) + what.replace('MARK', mark) + value.slice(at)
  }
const replaced =
  (what: string): Bend =>
  (_value, _chance, mark) =>
    what.replace('MARK', mark)
const turnCase: Bend = (value, chance) => {
  const at = chance.below(value.length + 1)
  const one = value.charAt(at)
  return (
    value.slice(0, at) +
    (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()) +
    value.slice(at + 1)
  )
}
const percentAll = (value: string) =>
  value.replaceAll(/[^]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`)

/** Ways to bend one value as it stands on the wire, where each character is one byte. */
export const bends: readonly [Bend, ...Bend[]] = [
  () => '',
  cut,
  changeByte,
  changeByte,
  changeLetter,
  changeLetter,
  changeLetter,
  changeLetter,
  changeLetter,
  changeLetter,
  turnCase,
  (value) => value.toUpperCase(),
  (value, _chance, mark) => value + mark,
  (value, _chance, mark) => value + mark.repeat(300),
  (value) => value + 'A'.repeat(70 * 1024),
  (value) => value + value,
  percentAll,
  (value) => percentAll(percentAll(value)),
  (value) => formEncode(value),
  (value) => value.replaceAll('.', '%c0%ae').replaceAll('_', '%c1%9f'),
  inserted('%c0%ae'),
  inserted('%e0%80%af'),
  inserted('%ff%fe'),
  inserted('\xff\xfe'),
  inserted('\xc3\xa4'),
  inserted('%00'),
  inserted('\x00'),
  inserted('%0d%0aX-Injected:%20MARK'),
  inserted('\r\nX-Injected: MARK'),
  inserted('%0a'),
  inserted('\x7f'),
  inserted('%ed%a0%80'),
  inserted('%ed%b0%80%ed%a0%80'),
  inserted('%uD800'),
  inserted('%'),
  inserted('%zz'),
  inserted('+'),
  inserted(' '),
  inserted('%20'),
  inserted('\t'),
  inserted('"'),
  inserted('%22%3E%3Cscript%3EMARK%3C/script%3E'),
  inserted('%e2%80%ae'),
  inserted('&'),
  inserted('='),
  inserted('#'),
  inserted(','),
  replaced('__proto__'),
  replaced('constructor'),
  replaced('toString'),
  replaced('MARK'),
  replaced('null'),
  replaced('undefined'),
  replaced('0'),
  replaced('-1'),
  replaced('99999999999999999999999999'),
  replaced('9e999'),
  replaced('NaN'),
  replaced('*'),
  replaced('%5B%5D'),
  replaced('%7B%22MARK%22%3A1%7D'),
  replaced('https%3A%2F%2Felsewhere.example%2FMARK'),
  replaced('javascript%3Aalert(MARK)'),
  replaced('https%3A%2F%2Fbook.example%40elsewhere.example%2Fcallback'),
  replaced('https%3A%2F%2Fbook.example%2Fcallback%2F..%2FMARK'),
]

/** Names that other parts of the world give a meaning. */
export const hostileNames: readonly [string, ...string[]] = [
  '__proto__',
  'constructor',
  'prototype',
  '__proto__[admin]',
  'hasOwnProperty',
  'toString',
  'scope[]',
  'scope%5B%5D',
  'client_id[0]',
  'code%00',
  '%FF',
  '',
  'redirect_uri.',
  ' code',
  'request',
  'request_uri',
  'client_assertion',
  'client_assertion_type',
  'resource',
  'audience',
  'prompt',
  'response_mode',
  'authorization_request',
  'state',
]
