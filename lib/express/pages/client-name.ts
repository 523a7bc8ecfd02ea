/** What a page calls a client: its name, or its identifier where nothing of the name would be seen. */
export function clientNameOf(client: {
  readonly client_id: string
  readonly client_name?: string | undefined
}): string {
  return isSeen(client.client_name) ? client.client_name.trim() : client.client_id
}

// A name of joiners, marks and spaces alone shows nothing, and the page would be about nobody.
function isSeen(name: string | undefined): name is string {
  return name !== undefined && /[\p{L}\p{N}\p{P}\p{S}]/u.test(name)
}
