import type { Request } from 'express'
import { shareOf } from '../limits/counted-for'
import type { Client } from '../protocol/client'
import type { EndpointDescription, EndpointRequest } from '../protocol/endpoint'
import type { SingleUse } from '../protocol/single-use'
import type { ServerContext } from '../server/context'

type UsingServer = Pick<ServerContext, 'contexts' | 'counters'>

export function useLast({ contexts }: Pick<UsingServer, 'contexts'>, request: Request, use: SingleUse): void {
  const context = contexts.of(request)
  context.singleUses = [...context.singleUses, use]
}

/** Last, if the endpoint does so itself. */
export function usingUp<Answer>(
  { usesUpLast }: EndpointDescription,
  asked: Pick<EndpointRequest, 'useUp'>,
  handle: () => Promise<Answer>,
): Promise<Answer> {
  if (asked.useUp === undefined) return handle()
  if (usesUpLast !== true) return asked.useUp().then(handle)
  return handle().then(async (answer) => {
    await asked.useUp?.()
    return answer
  })
}

/** @throws OAuthError if another request has used it up. */
export async function useUp(
  { contexts, counters }: UsingServer,
  request: Request,
  client: Client,
): Promise<void> {
  const context = contexts.of(request)
  const uses = context.singleUses
  context.singleUses = []
  const share = shareOf(client, request.ip)
  for (const { key, seconds, refusal } of uses)
    if (!(await counters.useOnce(key, seconds, share))) throw refusal()
}
