import { fields as registering } from '../../lib/clients/dynamic-registration/registration-options'
import { fields as options, limitsOf } from '../../lib/config/resolve-options'
import { fields as devices } from '../../lib/device-authorization/device-authorization'
import type { Limit } from '../../lib/limits/limit'
import { group, readOptions } from '../../lib/primitives/schema'
import { fields as pushing } from '../../lib/pushed-requests/pushed-requests'
import { fields as objects } from '../../lib/request-objects/request-objects'
import { fields as passwords } from '../../lib/token-endpoint/grant-types/password/password'

// The bounds of docs/bounds.md: each number comes from the code, and a test goes to it and beyond.

export interface Bound {
  readonly what: string
  readonly most: number
  readonly unit: string
  /** For a number in a time. */
  readonly seconds?: number
  /** Where the section does not say it. */
  readonly beyond: string
  /** A file in `test/` without its end, and the title of a test in it. */
  readonly test: string
}

export const bound = (
  what: string,
  size: Pick<Bound, 'most' | 'unit' | 'seconds'>,
  test: string,
  beyond = '',
): Bound => ({ what, ...size, test, beyond })

export const defaults = readOptions(
  '',
  {
    lifetimes: options.lifetimes,
    bodyDeadline: options.bodyDeadline,
    rememberConsent: options.rememberConsent,
    limits: limitsOf(readOptions('', { lifetimes: options.lifetimes }, {}).lifetimes),
    device: group(devices),
    pushing: group(pushing),
    passwords: passwords.limits,
    objects: group(objects),
    maximumClients: registering.maximumClients,
    unusedLifetime: registering.unusedLifetime,
  },
  { rememberConsent: true },
)

/** So many in so much time. A default is never off. */
export const often = (limit: Limit | undefined, factor = 1) => ({
  most: (limit?.attempts ?? NaN) * factor,
  unit: '',
  seconds: limit?.seconds ?? NaN,
})
export const inMinute = (attempts: number) => often({ attempts, seconds: 60 })
export const characters = (most: number) => ({ most, unit: 'characters' })
export const bytes = (most: number) => ({ most, unit: 'bytes' })
export const time = (most: number) => ({ most, unit: 'seconds' })
export const number = (most: number, unit = '') => ({ most, unit })

export const byDefault = 'properties/limits: %s are %i in a minute, and no more'
