import type { Client } from '../../protocol/client'
import type { ClientMember } from '../../protocol/client-member'
import { refused } from '../../protocol/refusals'
import type { DocumentFetch, DocumentInquiry } from './document-fetch'
import { DocumentUnavailable } from './document-unavailable'
import type { FetchedDocument } from './request-document'

interface MemberMistake {
  readonly name: string
  readonly message: string
}

export async function mistakeInStatement(
  client: Client,
  members: readonly ClientMember[] = [],
  documents: DocumentFetch,
  inquiry: DocumentInquiry,
): Promise<MemberMistake | undefined> {
  const fetchDocument = async (url: string, maximumSize?: number) =>
    (await documents.fetch(url, maximumSize, inquiry).catch(orUnreachable)).json
  for (const member of members) {
    const value = client.members[member.name]
    const message = value === undefined ? undefined : await member.verify?.(value, { client, fetchDocument })
    if (message !== undefined) return { name: member.name, message }
  }
  return undefined
}

/** A host's own fetch failed: the event needs the cause. */
export function orUnreachable(error: unknown): FetchedDocument {
  if (error instanceof DocumentUnavailable) throw error
  throw refused('client_document_unreachable', {}, { cause: error })
}
