import type { Request } from 'express'
import { shareOf } from '../limits/counted-for'
import type { Client } from '../protocol/client'
import type { SingleUse } from '../protocol/single-use'
import type { Edge } from './edge'

export function useLast({ contexts }: Edge, request: Request, use: SingleUse): void {
  const context = contexts.of(request)
  context.singleUses = [...context.singleUses, use]
}

export async function useUp({ contexts, counters }: Edge, request: Request, client: Client): Promise<void> {
  const context = contexts.of(request)
  const uses = context.singleUses
  context.singleUses = []
  const share = shareOf(client, request.ip)
  for (const { key, seconds, refusal } of uses)
    if (!(await counters.useOnce(key, seconds, share))) throw refusal()
}
