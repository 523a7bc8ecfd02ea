import { changeFrom } from '../clients/change-client'
import { ConfigurationError, isTexts } from '../primitives/options-reader'
import { isMemberName, isOwnMember } from '../protocol/client-member'
import { anyCapabilities, type ServerCapabilities } from '../protocol/parse-client'
import { membersIn, withoutDigests } from './client-fields'
import type { Command } from './command'
import { changeableOptions, changeOptions, metadataOptions, shutOutOptions } from './command-options'
import { shutOut } from './registrar'

const subject = 'The client cannot be changed:'

export const change: Command = {
  meaning: 'change members of a registration; each option replaces the whole member',
  takes: 'client_id',
  options: changeOptions,
  async run({ clients }, { name: clientId, fields: { member, remove, ...metadata } }) {
    const members = membersIn(isTexts(member) ? member : [], subject)
    const removed = (isTexts(remove) ? remove : []).map(removedMember)
    const given = [...Object.keys(metadata), ...members.keys()]
    for (const name of removed)
      if (given.includes(name)) throw wrongRemoval(`names ${name}, which another option sets.`)
    if (given.length + removed.length === 0)
      throw new ConfigurationError(subject, [
        { path: 'client change', message: 'needs an option that says what changes, such as --name.' },
      ])
    const gone = removed.map((name) => [name, undefined] as const)
    const changes = { ...Object.fromEntries([...members, ...gone]), ...metadata }
    const changed = await changeFrom(clients, clientId, changes, (current) =>
      knowing([...members.keys(), ...Object.keys(current)]),
    )
    return { found: withoutDigests(changed) }
  },
}

function removedMember(name: string): string {
  const field = changeableOptions[name]?.field
  if (field !== undefined) return field
  if (Object.hasOwn(metadataOptions, name)) throw wrongRemoval(`cannot remove ${name}, which never changes.`)
  if (isMemberName(name) && !isOwnMember(name)) return name
  throw wrongRemoval(
    `must name an option, such as logo-uri, or a member of a plug-in, such as subject_type; "${name}" is neither.`,
  )
}

const wrongRemoval = (message: string) => new ConfigurationError(subject, [{ path: '--remove', message }])

// The server checks plug-ins' members. A registration keeps those that it has.
function knowing(names: readonly string[]): ServerCapabilities {
  const members = names.filter((name) => !isOwnMember(name) && isMemberName(name))
  return {
    ...anyCapabilities,
    members: [...new Set(members)].map((name) => ({ name, mistakeIn: noMistake })),
  }
}

const noMistake = () => undefined

export const remove: Command = {
  meaning: 'delete a client for ever; its client_id stays taken, and its access tokens are as with disable',
  takes: 'client_id',
  options: shutOutOptions,
  async run(store, { name: clientId, fields }) {
    const said = await shutOut(store, fields['issuer'], (registrar) => registrar.deleteClient(clientId))
    return { found: { client_id: clientId, deleted: true }, ...said }
  },
}
