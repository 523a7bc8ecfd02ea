import type { OptionsReader } from '../../../protocol/configuration'
import type { OwnerOfAssertion } from './assertion'
import type { AssertionFormat } from './assertion-grant'

/** Options that every grant by assertion has. */
export interface AssertionOptions {
  /** Whom of the host's own an assertion is about; undefined refuses it. It may also look at the client. */
  readonly resourceOwner: OwnerOfAssertion
  /** How far clocks may differ, in whole seconds, at most 300. Default 30. */
  readonly clockTolerance?: number
  /** How far ahead an assertion may end, in whole seconds, at most 86 400: so long its use is remembered. Default 3600. */
  readonly maximumLifetime?: number
}

/** Reads them; what it returns after a mistake is a placeholder. */
export function readAssertionTerms(
  reading: OptionsReader,
): Pick<AssertionFormat, 'resourceOwner' | 'clockTolerance' | 'maximumLifetime'> {
  const seconds = (key: string, fallback: number, least: number, most: number) =>
    reading.optional(key, fallback, isWithin(least, most), `must be whole seconds, ${least} to ${most}.`)
  return {
    resourceOwner: reading.required(
      'resourceOwner',
      () => undefined,
      isOwnerOfAssertion,
      'must be a function of an assertion and a client that returns a subject, or undefined to refuse.',
    ),
    clockTolerance: seconds('clockTolerance', 30, 0, 300),
    maximumLifetime: seconds('maximumLifetime', 3600, 1, 86_400),
  }
}

const isOwnerOfAssertion = (value: unknown): value is OwnerOfAssertion => typeof value === 'function'
const isWithin =
  (least: number, most: number) =>
  (value: unknown): value is number =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
