/**
 * Questions about operations outside GITHUB_PARTS, which the ranking was never tuned on. They were written after the
 * last change of the ranking, by somebody who knew neither the ranking nor the other questions (except the first 42
 * direct ones, as an example of the format). They are measured once, in a catalogue with all operations of GitHub,
 * Netlify and Figma.
 *
 * Direct questions share a content word with the tool's text. Paraphrased questions share none with the tool's name and
 * few with its text. Reworded ones ask for the same operations in the same order, in the words of a language model that
 * does not know the catalogue but was told to phrase its need as the API documentation would put it.
 */
import type { Question } from './questions.ts'

export const UNSEEN_DIRECT: readonly Question[] = [
  { ask: 'show my Copilot agent tasks', tools: ['github_agent-tasks_list-tasks'] },
  { ask: 'delete an agent secret', tools: ['github_agents_delete-org-secret', 'github_agents_delete-repo-secret'] },
  {
    ask: 'change the value of an agent variable',
    tools: ['github_agents_update-org-variable', 'github_agents_update-repo-variable'],
  },
  { ask: 'which API routes does an actor request the most?', tools: ['github_api-insights_get-route-stats-by-actor'] },
  {
    ask: 'create an access token for an installation of my app',
    tools: ['github_apps_create-installation-access-token'],
  },
  { ask: 'suspend our app for one customer', tools: ['github_apps_suspend-installation'] },
  {
    ask: 'which repositories can the app installation access?',
    tools: [
      'github_apps_list-repos-accessible-to-installation',
      'github_apps_list-installation-repos-for-authenticated-user',
    ],
  },
  { ask: 'create a spending budget for our organization', tools: ['github_billing_create-organization-budget'] },
  { ask: 'delete a security campaign', tools: ['github_campaigns_delete-campaign'] },
  {
    ask: 'which assignments did I give in my classroom?',
    tools: ['github_classroom_list-assignments-for-a-classroom'],
  },
  {
    ask: 'which quality problems were found in the code of this repository?',
    tools: ['github_code-quality_list-findings-for-repo'],
  },
  {
    ask: 'dismiss a code scanning alert as a false positive',
    tools: ['github_code-scanning_update-alert'],
  },
  { ask: 'upload a SARIF file', tools: ['github_code-scanning_upload-sarif'] },
  {
    ask: 'turn on the default setup of code scanning for a repo',
    tools: ['github_code-scanning_update-default-setup'],
  },
  {
    ask: 'apply a security configuration to all our repositories',
    tools: ['github_code-security_attach-configuration', 'github_code-security_attach-enterprise-configuration'],
  },
  {
    ask: 'what security configuration does this repository use?',
    tools: ['github_code-security_get-configuration-for-repository'],
  },
  { ask: 'stop my codespace', tools: ['github_codespaces_stop-for-authenticated-user'] },
  {
    ask: 'open a new codespace on a pull request',
    tools: [
      'github_codespaces_create-with-pr-for-authenticated-user',
      'github_codespaces_create-for-authenticated-user',
    ],
  },
  {
    ask: 'what machine types are available for a codespace?',
    tools: [
      'github_codespaces_codespace-machines-for-authenticated-user',
      'github_codespaces_repo-machines-for-authenticated-user',
    ],
  },
  {
    ask: 'save a personal secret for my codespaces',
    tools: ['github_codespaces_create-or-update-secret-for-authenticated-user'],
  },
  {
    ask: 'how many Copilot seats does our organization pay for?',
    tools: ['github_copilot_get-copilot-organization-details', 'github_copilot_list-copilot-seats'],
  },
  {
    ask: 'Copilot usage of each user in the organization on a specific day',
    tools: ['github_copilot_copilot-organization-users-one-day-usage-metrics'],
  },
  {
    ask: 'show the content exclusion rules for Copilot',
    tools: ['github_copilot_copilot-content-exclusion-for-organization'],
  },
  {
    ask: 'create a Copilot Space',
    tools: ['github_copilot-spaces_create-for-org', 'github_copilot-spaces_create-for-user'],
  },
  {
    ask: 'remove a collaborator from a Copilot Space',
    tools: ['github_copilot-spaces_remove-collaborator-for-org', 'github_copilot-spaces_remove-collaborator-for-user'],
  },
  { ask: 'all Dependabot alerts of the organization', tools: ['github_dependabot_list-alerts-for-org'] },
  {
    ask: 'let Dependabot access some of our private repositories',
    tools: [
      'github_dependabot_update-repository-access-for-org',
      'github_dependabot_update-repository-access-for-enterprise',
    ],
  },
  {
    ask: 'how did the dependencies change between two commits?',
    tools: ['github_dependency-graph_diff-range'],
  },
  {
    ask: 'add several people to an enterprise team at once',
    tools: ['github_enterprise-team-memberships_bulk-add'],
  },
  {
    ask: 'which organizations is an enterprise team assigned to?',
    tools: ['github_enterprise-team-organizations_get-assignments'],
  },
  {
    ask: 'create a network configuration for the hosted runners of our organization',
    tools: ['github_hosted-compute_create-network-configuration-for-org'],
  },
  {
    ask: 'download the archive of a migration',
    tools: ['github_migrations_download-archive-for-org', 'github_migrations_get-archive-for-authenticated-user'],
  },
  {
    ask: 'unlock a repository that was locked for a migration',
    tools: ['github_migrations_unlock-repo-for-org', 'github_migrations_unlock-repo-for-authenticated-user'],
  },
  {
    ask: 'customize the subject claim of OIDC tokens in our organization',
    tools: ['github_oidc_update-oidc-custom-sub-template-for-org'],
  },
  {
    ask: 'what private registries has our organization configured?',
    tools: ['github_private-registries_list-org-private-registries'],
  },
  {
    ask: 'add an existing issue to a project',
    tools: ['github_projects_add-item-for-org', 'github_projects_add-item-for-user'],
  },
  {
    ask: 'which fields does a project have?',
    tools: ['github_projects_list-fields-for-org', 'github_projects_list-fields-for-user'],
  },
  { ask: 'make a stack out of several pull requests', tools: ['github_pull-request-stacks_create'] },
  {
    ask: 'all locations in which the leaked secret of an alert appears',
    tools: ['github_secret-scanning_list-locations-for-alert'],
  },
  {
    ask: 'request a CVE number for a security advisory',
    tools: ['github_security-advisories_create-repository-advisory-cve-request'],
  },
]

/** The same needs in two ways: in a user's own words, and as API documentation would put it. */
const IN_TWO_WAYS: readonly (Question & { reworded: string })[] = [
  {
    ask: 'let the AI coder fix a bug in our Python library by itself and open a PR',
    reworded: 'start a coding agent session that fixes a bug and opens a pull request',
    tools: ['github_agent-tasks_create-task-in-repo'],
  },
  {
    ask: 'give the AI coder the database password, company-wide',
    reworded: 'set an organization-level secret for the coding agent',
    tools: ['github_agents_create-or-update-org-secret'],
  },
  {
    ask: 'who in the company sends the most calls to the REST interface?',
    reworded: 'list API request counts per user of an organization',
    tools: ['github_api-insights_get-subject-stats'],
  },
  {
    ask: 'remove our integration from a customer for good',
    reworded: 'uninstall an app from a customer account',
    tools: ['github_apps_delete-installation'],
  },
  {
    ask: 'does the OAuth login that our integration got from Anna still work?',
    reworded: 'check whether an OAuth access token is valid',
    tools: ['github_apps_check-token'],
  },
  {
    ask: 'who bought the gold tier of our product on the marketplace?',
    reworded: 'list customers subscribed to a marketplace pricing plan',
    tools: ['github_apps_list-accounts-for-plan', 'github_apps_list-accounts-for-plan-stubbed'],
  },
  {
    ask: 'what did runners and large file storage cost our company in March?',
    reworded: 'get the billing usage of an organization by product for a month',
    tools: [
      'github_billing_get-github-billing-usage-report-org',
      'github_billing_get-github-billing-usage-summary-report-org',
    ],
  },
  {
    ask: 'raise the monthly spending limit of our company',
    reworded: 'update the spending limit of an organization',
    tools: ['github_billing_update-budget-org'],
  },
  {
    ask: 'run a drive to have a set of vulnerabilities fixed by the end of June',
    reworded: 'create a remediation campaign for security alerts with a due date',
    tools: ['github_campaigns_create-campaign'],
  },
  {
    ask: 'who in my course has started on the homework?',
    reworded: 'list student submissions of an assignment',
    tools: ['github_classroom_list-accepted-assignments-for-an-assignment'],
  },
  {
    ask: 'switch on automatic maintainability and reliability checks for our Java sources',
    reworded: 'enable code quality analysis for a repository',
    tools: ['github_code-quality_update-setup'],
  },
  {
    ask: 'have AI propose a patch for a weakness that static analysis found',
    reworded: 'generate an automatic fix for a code scanning alert',
    tools: ['github_code-scanning_create-autofix'],
  },
  {
    ask: 'what vulnerabilities has the static analyzer reported anywhere in our company?',
    reworded: 'list code scanning alerts of all repositories in an organization',
    tools: ['github_code-scanning_list-alerts-for-org'],
  },
  {
    ask: 'every repo we start from now on should get this protection profile automatically',
    reworded: 'set a security profile as the default for newly created repositories',
    tools: [
      'github_code-security_set-configuration-as-default',
      'github_code-security_set-configuration-as-default-for-enterprise',
    ],
  },
  {
    ask: 'stop managing a few repos through the shared protection profile',
    reworded: 'remove repositories from a security policy',
    tools: ['github_code-security_detach-configuration'],
  },
  {
    ask: 'which ready-made behavior guidelines for communities, such as the Contributor Covenant, are there?',
    reworded: 'list available code of conduct templates',
    tools: ['github_codes-of-conduct_get-all-codes-of-conduct'],
  },
  {
    ask: 'boot up my dev environment in the cloud',
    reworded: 'start a codespace',
    tools: ['github_codespaces_start-for-authenticated-user'],
  },
  {
    ask: 'my cloud dev environment needs more CPU and memory',
    reworded: 'change the machine type of a codespace',
    tools: ['github_codespaces_update-for-authenticated-user'],
  },
  {
    ask: 'choose which employees may run a cloud dev environment at the expense of the company',
    reworded: 'set which organization members may use codespaces billed to the organization',
    tools: ['github_codespaces_set-codespaces-access', 'github_codespaces_set-codespaces-access-users'],
  },
  {
    ask: 'buy a license for the AI pair programmer for two new colleagues',
    reworded: 'assign Copilot seats to users',
    tools: ['github_copilot_add-copilot-seats-for-users'],
  },
  {
    ask: 'keep the AI assistant from reading certain folders',
    reworded: 'exclude file paths from Copilot',
    tools: ['github_copilot_set-copilot-content-exclusion-for-organization'],
  },
  {
    ask: 'put our style guide into a knowledge collection that the AI assistant answers from',
    reworded: 'add a document to a Copilot knowledge base',
    tools: [
      'github_copilot-spaces_create-resource-for-org',
      'github_copilot-spaces_create-resource-for-user',
      'github_copilot-spaces_update-for-org',
      'github_copilot-spaces_update-for-user',
    ],
  },
  {
    ask: 'what knowledge collections for the AI assistant exist?',
    reworded: 'list Copilot knowledge bases',
    tools: ['github_copilot-spaces_list-for-org', 'github_copilot-spaces_list-for-user'],
  },
  {
    ask: 'somebody leaked a PAT on the web: have it invalidated',
    reworded: 'revoke a leaked personal access token',
    tools: ['github_credentials_revoke'],
  },
  {
    ask: 'close the warning about the vulnerable lodash version, we are not affected',
    reworded: 'dismiss a vulnerability alert for a dependency',
    tools: ['github_dependabot_update-alert'],
  },
  {
    ask: 'the robot that bumps our library versions should forget a password we gave it',
    reworded: 'delete a Dependabot secret',
    tools: ['github_dependabot_delete-org-secret', 'github_dependabot_delete-repo-secret'],
  },
  {
    ask: 'an inventory of every open-source library inside our product, for the auditor',
    reworded: 'get a software bill of materials of a repository',
    tools: [
      'github_dependency-graph_export-sbom',
      'github_dependency-graph_fetch-sbom-report',
      'github_dependency-graph_generate-sbom-report',
    ],
  },
  {
    ask: 'set up a group of people that spans all our organizations',
    reworded: 'create a team at the enterprise level',
    tools: ['github_enterprise-teams_create'],
  },
  {
    ask: 'does Anna belong to the group that spans all our organizations?',
    reworded: 'check whether a user is a member of an enterprise team',
    tools: ['github_enterprise-team-memberships_get', 'github_enterprise-team-memberships_list'],
  },
  {
    ask: 'pack all our repos into an export so that we can move to another server',
    reworded: 'start an export of all repositories of an organization',
    tools: ['github_migrations_start-for-org', 'github_migrations_start-for-authenticated-user'],
  },
  {
    ask: 'give the old Subversion logins their real names and e-mail addresses',
    reworded: 'map Subversion authors to Git names and email addresses during an import',
    tools: ['github_migrations_map-commit-author'],
  },
  {
    ask: 'when a workflow logs in to AWS, its identity should also carry the cost center of the repo',
    reworded: 'include a repository property as a claim in the OpenID Connect token of workflows',
    tools: [
      'github_oidc_create-oidc-custom-property-inclusion-for-enterprise',
      'github_oidc_create-oidc-custom-property-inclusion-for-org',
    ],
  },
  {
    ask: 'the address and login of our Artifactory, stored once for the whole company',
    reworded: 'add a private package registry with credentials to an organization',
    tools: ['github_private-registries_create-org-private-registry'],
  },
  {
    ask: 'move a card to Done on our planning board',
    reworded: 'change the status of an item on a project board',
    tools: ['github_projects_update-item-for-org', 'github_projects_update-item-for-user'],
  },
  {
    ask: 'our planning board needs another tab that shows only open bugs',
    reworded: 'create a filtered view in a project',
    tools: ['github_projects_create-view-for-org', 'github_projects_create-view-for-user'],
  },
  {
    ask: 'extend my chain of PRs that build on one another',
    reworded: 'add a pull request to a chain of stacked pull requests',
    tools: ['github_pull-request-stacks_add'],
  },
  {
    ask: 'my changes were rejected because of a dummy API key in a test, let them through anyway',
    reworded: 'bypass push protection for a detected secret',
    tools: ['github_secret-scanning_create-push-protection-bypass'],
  },
  {
    ask: 'teach the leak detector what our internal API keys look like',
    reworded: 'define a custom secret detection pattern',
    tools: [
      'github_secret-scanning_bulk-create-org-custom-patterns',
      'github_secret-scanning_bulk-create-repo-custom-patterns',
    ],
  },
  {
    ask: 'tell the owners of an open-source library discreetly that it can be exploited',
    reworded: 'report a vulnerability privately to the maintainers of a repository',
    tools: ['github_security-advisories_create-private-vulnerability-report'],
  },
  {
    ask: 'what publicly known holes does lodash 4.17 have?',
    reworded: 'search the security advisory database for a package',
    tools: ['github_security-advisories_list-global-advisories'],
  },
]

export const UNSEEN_PARAPHRASED: readonly Question[] = IN_TWO_WAYS
export const UNSEEN_REWORDED: readonly Question[] = IN_TWO_WAYS.map(({ reworded, tools }) => ({ ask: reworded, tools }))
