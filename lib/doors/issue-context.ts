import { lifetimesFor } from '../authorization/lifetimes'
import { keeperFor } from '../authorization/refresh-token-rotation'
import type { IssueContext } from '../authorization/transition'
import type { Client } from '../protocol/client'
import { type Evidence, noEvidence } from '../protocol/evidence'
import type { Context } from './context'

const countNothing = () => {}

export function issueContext(
  server: Context,
  client: Client,
  restrict: IssueContext['restrict'],
  evidence: Evidence = noEvidence,
  now = server.now(),
): IssueContext {
  const { settings, plugIns, limits, random, issuerDigest } = server
  return {
    now,
    issuerDigest,
    random,
    lifetimes: lifetimesFor(client, settings.lifetimes),
    tokenTypes: plugIns.tokenTypes,
    usualFormat: plugIns.usualFormat,
    formats: plugIns.formats,
    evidence,
    confirmationOf: plugIns.confirmationOf,
    countIssue: limits.issuing?.countOfRequest() ?? countNothing,
    keepsRefreshToken: keeperFor(client, settings, plugIns),
    restrict,
  }
}
