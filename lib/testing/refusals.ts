import { tapRefusals, type TappedRefusal } from './door'

const remembered = 1000
const refusals = new Map<string, TappedRefusal>()

tapRefusals((refusal) => {
  refusals.delete(refusal.requestId)
  refusals.set(refusal.requestId, refusal)
  for (const oldest of refusals.keys())
    if (refusals.size > remembered) refusals.delete(oldest)
    else break
})

/** The part of a supertest response that the kit needs. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/** Finds the refusal that a response shows, among the last 1000 refusals of this process. */
export function refusalBehind(response: HttpResponse): TappedRefusal | undefined {
  return refusals.get(headerOf(response, 'x-request-id') ?? '')
}

/** Returns a header field of a response; undefined if the response does not have the field exactly once. */
export function headerOf({ headers }: HttpResponse, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
