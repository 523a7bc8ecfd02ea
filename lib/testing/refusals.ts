import { tapRefusals, type TappedRefusal } from '../protocol/test-door'

const remembered = 1000
const refusals = new Map<string, TappedRefusal>()

tapRefusals((refusal) => {
  refusals.delete(refusal.requestId)
  refusals.set(refusal.requestId, refusal)
  for (const oldest of refusals.keys())
    if (refusals.size > remembered) refusals.delete(oldest)
    else break
})

/** What the kit needs of a supertest response. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/** Among the last 1000 refusals of this process. */
export const refusalBehind = (response: HttpResponse): TappedRefusal | undefined =>
  refusals.get(headerOf(response, 'x-request-id') ?? '')

/** Undefined unless the response has the field exactly once. */
export function headerOf({ headers }: HttpResponse, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
