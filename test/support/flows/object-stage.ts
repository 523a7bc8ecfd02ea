import type { Response } from 'supertest'
import { requestObjects, type RequestObjectOptions } from '../../../lib/paths/pushed-requests'
import { outcomeOf } from './outcome'
import { objectClaims, signingBook, signingPrint } from './request-object'
import { setStage } from '../flows/stage'
import { withPlugins } from '../with-plug-ins'

const clients = [signingPrint.registration, signingBook.registration]

/** A server that takes request objects of two clients. */
export function objectStage(
  objects: RequestObjectOptions = {},
  options: Parameters<typeof setStage>[0] = {},
  hosting?: Parameters<typeof setStage>[1],
) {
  const set = setStage(
    { clients, ...options, plugins: withPlugins([requestObjects(objects)], options.plugins) },
    hosting,
  )
  const now = () => Math.floor(set.clock.read() / 1000)
  const claims = (bend: object = {}) => ({ ...objectClaims(now()), ...bend })
  /** Alice's browser brings a request object of photo-print. */
  const bring = (request: string, bend: object = {}, owner = 'alice') =>
    set.flow.ask({ client_id: 'photo-print', request, ...bend }, owner)
  return { ...set, now, claims, bring }
}

export type ObjectStage = ReturnType<typeof objectStage>

/** What the server makes of an object: a question to the owner, or the reason of its refusal. */
export function resultOf({ failures }: ObjectStage, page: Response): string {
  const outcome = outcomeOf(page)
  return outcome === 'page 400 invalid_request_object'
    ? String(failures.at(-1)?.reason).replace('request_object_', '')
    : outcome
}
