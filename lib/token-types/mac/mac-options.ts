import { OptionsReader } from '../../protocol/configuration'
import { isMacAlgorithm, type MacAlgorithm } from './algorithm'
import { isAuthority } from './authority'

/** Options of `mac`. */
export interface MacOptions {
  /**
   * Where clients call the guarded resources, as `Host` names it: `api.example.com`, with a port unless it is the default
   * one. A request that was signed for another server is never good here.
   */
  readonly hosts: readonly string[]
  /** The first one is what new tokens get; the others are still good. Default `['hmac-sha-256']`. */
  readonly algorithms?: readonly MacAlgorithm[]
  /** How far the time of a request may be from the guard's clock, either way, in seconds, 1 to 300. Default 60. */
  readonly tolerance?: number
}

type Algorithms = readonly [MacAlgorithm, ...MacAlgorithm[]]

/** The options, complete and proven. */
export interface MacRules {
  readonly hosts: readonly string[]
  readonly algorithms: Algorithms
  readonly tolerance: number
}

/** @throws ConfigurationError */
export function readMacOptions(options: unknown): MacRules {
  const reading = new OptionsReader(options, '')
  const rules: MacRules = {
    hosts: reading.required('hosts', [], isHosts, hostsCure),
    algorithms: reading.optional<Algorithms>('algorithms', ['hmac-sha-256'], isAlgorithms, algorithmsCure),
    tolerance: reading.optional('tolerance', 60, isTolerance, 'must be whole seconds, 1 to 300.'),
  }
  reading.refuseUnknown()
  reading.settle('mac() cannot work with these options:')
  return rules
}

const hostsCure =
  "must be a list of hosts as the Host header names them, such as ['api.example.com'], with a port unless it is the default one."
const algorithmsCure = "must be a list of 'hmac-sha-256' and 'hmac-sha-1', the first of which new tokens get."
const isHosts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.length > 0 && value.every(isAuthority)
const isAlgorithms = (value: unknown): value is Algorithms =>
  Array.isArray(value) && value.length > 0 && value.every(isMacAlgorithm)
const isTolerance = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 300
