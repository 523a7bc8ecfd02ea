import type { AppGroup } from './home-page'
import { connectedApplications } from './sign-in'

/** What the front page leads to. */
export function appGroups(urls: Readonly<Record<AppKey, string>>): readonly AppGroup[] {
  return [
    {
      title: 'Apps that ask you for access',
      apps: [
        {
          name: 'Photo Book',
          url: urls.photoBook,
          does: 'asks for the photos of one workspace, and shows them.',
        },
        {
          name: 'Postcards',
          url: urls.postcards,
          does: 'is unknown to Lumen, introduces itself, and is marked as not verified.',
        },
        {
          name: 'Supper Club',
          url: urls.supperClub,
          does: 'lets you sign in with Lumen, and learns your name.',
        },
        {
          name: 'Attack Lab',
          url: urls.attackLab,
          does: 'attacks Lumen at the press of a button, and shows why that fails.',
        },
        {
          name: 'Television',
          url: urls.television,
          does: 'shows a code, which you enter where you are signed in.',
        },
      ],
    },
    {
      title: 'What you have allowed',
      apps: [
        {
          name: 'Connected applications',
          url: connectedApplications,
          does: 'shows what each app may do, and takes it back.',
        },
      ],
    },
    {
      title: 'Where they get the photos from',
      apps: [
        {
          name: 'Photo API',
          does: 'gives photos to clients that have a token. The terminal says how to call it.',
        },
        {
          name: 'MCP server',
          does: 'gives photos to AI clients that you allow. The terminal says how to start one.',
        },
      ],
    },
  ]
}

type AppKey = 'photoBook' | 'postcards' | 'supperClub' | 'attackLab' | 'television'
