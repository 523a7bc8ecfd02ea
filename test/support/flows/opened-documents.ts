import {
  createAuthorizationServer,
  type AuthorizationServerOptions,
  type DocumentFetch,
} from '../../../lib/index'
import { metadataDocuments, type MetadataDocumentsOptions } from '../../../lib/paths/registration'
import { canonicalOptions } from './application'

/** The timers of Node that tests stop: the deadline of a fetch is over when the test says so. */
export const stoppedTimers = {
  doNotFake: [
    'Date',
    'hrtime',
    'nextTick',
    'performance',
    'queueMicrotask',
    'setImmediate',
    'clearImmediate',
  ],
} satisfies Parameters<typeof jest.useFakeTimers>[0]

type Opened = ReturnType<ReturnType<typeof metadataDocuments>['open']>

/** What a server opens by `metadataDocuments()`. */
export function openedDocuments(
  documents: MetadataDocumentsOptions,
  options: Partial<AuthorizationServerOptions> = {},
): Opened {
  const source = metadataDocuments(documents)
  const opened: Opened[] = []
  const clients: typeof source = {
    open(...given) {
      const found = source.open(...given)
      opened.push(found)
      return found
    },
  }
  createAuthorizationServer({ ...canonicalOptions, ...options, clients })
  const [found] = opened
  if (found === undefined) throw new Error('The server has not opened the source.')
  return found
}

/** The fetch that it opens for documents of strangers. The server is at loopback, unless its issuer says otherwise. */
export function fetchOf(
  documents: MetadataDocumentsOptions,
  options: Partial<AuthorizationServerOptions> = {},
): DocumentFetch {
  const { clientDocuments: opened } = openedDocuments(documents, options)
  if (opened === undefined) throw new Error('The server fetches no documents.')
  return opened
}

/** Why a document is unavailable, or `document`. What a requester could see of it is the same for all. */
export async function outcomeOfFetch(fetched: Promise<unknown>): Promise<string> {
  const error: unknown = await fetched.then(
    () => undefined,
    (refusal: unknown) => refusal,
  )
  if (error === undefined) return 'document'
  if (!(error instanceof Error) || `${error}` !== 'DocumentUnavailable: The document is not available.')
    throw error
  return String(Object(error).reason)
}
