import type { ListedConsent } from '../authorization/remembered-consent'
import { ownerName } from '../authorization/owners'
import { inTurns } from '../primitives/concurrency'
import type { ListingContext } from './authorizations-options'
import { listedOf, type ListedAuthorization } from './owner-authorizations'

/** Let in by live authorizations, by a remembered consent, or by both. */
export interface OwnerApplication {
  readonly clientId: string
  readonly authorizations: readonly ListedAuthorization[]
  readonly consent: ListedConsent | undefined
}

interface ApplicationPart {
  readonly applications: readonly OwnerApplication[]
  readonly before: string | undefined
  readonly after: string | undefined
}

interface PartPlace {
  readonly after?: string | undefined
  readonly before?: string | undefined
}

/** Stands for one moment. */
export interface OwnerApplications {
  part(place: PartPlace): Promise<ApplicationPart>
  find(clientId: string): Promise<OwnerApplication | undefined>
}

const partSize = 8

export async function ownerApplications(server: ListingContext, subject: string): Promise<OwnerApplications> {
  const { owners, consents } = server.store
  const owner = ownerName(server.issuerDigest, subject)
  const [{ entries }, remembered = []] = await Promise.all([owners.read(owner), consents?.list(subject)])
  const consentOf = new Map(remembered.map((consent) => [consent.clientId, consent]))
  const idsOf = new Map<string, string[]>()
  for (const { clientId, authorizationId } of entries)
    idsOf.set(clientId, [...(idsOf.get(clientId) ?? []), authorizationId])

  const clientIds = [...new Set([...idsOf.keys(), ...consentOf.keys()])].toSorted()

  const find = async (clientId: string): Promise<OwnerApplication | undefined> => {
    const authorizations = await listedOf(server, (idsOf.get(clientId) ?? []).toSorted(), subject)
    const consent = consentOf.get(clientId)
    return authorizations.length > 0 || consent !== undefined
      ? { clientId, authorizations, consent }
      : undefined
  }

  const part = async ({ after, before }: PartPlace): Promise<ApplicationPart> => {
    const all = (await inTurns(clientIds, find)).filter((each) => each !== undefined)
    const first =
      before === undefined
        ? all.findIndex(({ clientId }) => after === undefined || clientId > after)
        : all.filter(({ clientId }) => clientId < before).length - partSize
    const start = Math.max(0, first)
    const applications = all.slice(start, start + partSize)
    return {
      applications,
      before: start > 0 ? applications[0]?.clientId : undefined,
      after: start + partSize < all.length ? applications.at(-1)?.clientId : undefined,
    }
  }

  return { part, find }
}
