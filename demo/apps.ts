import type { AppOfDemo } from './home-page'
import { connectedApplications } from './sign-in'

/** What the front page leads to. */
export function appsAt(
  urls: Readonly<Record<'photoBook' | 'postcards' | 'supperClub' | 'attackLab' | 'television', string>>,
): readonly AppOfDemo[] {
  return [
    {
      name: 'Photo Book',
      url: urls.photoBook,
      does: 'Asks for the photos of one workspace, and shows them.',
    },
    {
      name: 'Postcards',
      url: urls.postcards,
      does: 'Is unknown to Lumen, introduces itself, and is marked as not verified.',
    },
    {
      name: 'Supper Club',
      url: urls.supperClub,
      does: 'Lets you sign in with Lumen, and learns your name.',
    },
    {
      name: 'Television',
      url: urls.television,
      does: 'Shows a code, which you enter where you are signed in.',
    },
    {
      name: 'Attack Lab',
      url: urls.attackLab,
      does: 'Attacks Lumen at the press of a button, and shows why that fails.',
    },
    {
      name: 'Connected applications',
      url: connectedApplications,
      does: 'Shows what you have allowed each app, and takes it back.',
    },
    {
      name: 'Photo API',
      does: 'Gives photos to clients that have a token. The terminal says how to call it.',
    },
    {
      name: 'MCP server',
      does: 'Gives photos to AI clients that you allow. The terminal says how to start one.',
    },
  ]
}
