/** What a new workflow can begin with. Written against the sample database; names of models and hosts are to be one's own. */

export interface Template {
  id: string;
  name: string;
  description: string;
  tags: string[];
  /** What must be there before it runs, beside the sample database; empty for nothing. */
  needs: string;
  /** YAML. */
  definition: string;
}

export const TEMPLATES: readonly Template[] = [
  {
    id: "query",
    name: "Revenue by region",
    description: "Asks a database, makes sure that the answer is not empty, and gives the best region.",
    tags: ["sales"],
    needs: "",
    definition: `inputs:
  type: object
  properties:
    since:
      type: string
      format: date
      default: "2026-06-01"
      description: Orders from this day on.
steps:
  - id: revenue
    type: sql
    description: The query takes no expressions; values are bound by name.
    database: shop
    query: |
      SELECT c.region, ROUND(SUM(i.quantity * i.price), 2) AS revenue, COUNT(DISTINCT o.id) AS orders
      FROM orders o
      JOIN customers c ON c.id = o.customer_id
      JOIN order_items i ON i.order_id = o.id
      WHERE o.status = 'paid' AND o.ordered_on >= :since
      GROUP BY c.region
      ORDER BY revenue DESC
    params: { since: "\${{ inputs.since }}" }
  - id: any_orders
    type: assert
    that: steps.revenue.row_count > 0
    message: There are no orders since \${{ inputs.since }}.
output:
  best_region: "\${{ steps.revenue.rows[0].region }}"
  total: "\${{ steps.revenue.rows.map(r, r.revenue).sum() }}"
  regions: "\${{ steps.revenue.rows }}"
examples:
  - name: June 2026
    inputs: { since: "2026-06-01" }
    expect: { best_region: west }
`,
  },
  {
    id: "schedule",
    name: "Unpaid orders, every morning",
    description: "Runs by itself on weekdays, and says which orders are not paid.",
    tags: ["sales", "daily"],
    needs: "",
    definition: `inputs:
  type: object
  properties:
    until:
      type: string
      description: The day up to which it looks, as 2026-06-28.
      default: "2026-06-28"
steps:
  - id: unpaid
    type: sql
    database: shop
    query: |
      SELECT o.id, c.name AS customer, o.ordered_on, o.status
      FROM orders o JOIN customers c ON c.id = o.customer_id
      WHERE o.status <> 'paid' AND o.ordered_on <= date(:until)
      ORDER BY o.ordered_on
      LIMIT 200
    params: { until: "\${{ inputs.until }}" }
    retry: { attempts: 3, initial: 5s }
  - id: by_customer
    type: set
    values:
      customers: "\${{ steps.unpaid.rows.map(r, r.customer).unique() }}"
output:
  orders: "\${{ steps.unpaid.rows }}"
  customers: "\${{ steps.by_customer.customers }}"
schedule:
  cron: "0 7 * * MON-FRI"
  timezone: Europe/Berlin
  inputs: { until: "\${{ run.scheduled_for }}" }
  overlap: skip
`,
  },
  {
    id: "model",
    name: "Revenue in two sentences",
    description: "Lets a model put the rows of a query into words, in a form that is checked.",
    tags: ["sales"],
    needs: "a model called writer in the configuration",
    definition: `inputs:
  type: object
  properties:
    since: { type: string, format: date, default: "2026-06-01" }
steps:
  - id: revenue
    type: sql
    database: shop
    query: |
      SELECT c.region, ROUND(SUM(i.quantity * i.price), 2) AS revenue
      FROM orders o
      JOIN customers c ON c.id = o.customer_id
      JOIN order_items i ON i.order_id = o.id
      WHERE o.status = 'paid' AND o.ordered_on >= :since
      GROUP BY c.region
      ORDER BY revenue DESC
    params: { since: "\${{ inputs.since }}" }
  - id: words
    type: model
    model: writer
    system: You write for people in a hurry. You invent nothing.
    prompt: |
      The revenue by region since \${{ inputs.since }}, for a manager, from these rows only:
      \${{ steps.revenue.rows }}
    output_schema:
      type: object
      properties:
        headline: { type: string, description: At most eight words. }
        text: { type: string, description: Two sentences. }
      required: [headline, text]
      additionalProperties: false
    temperature: 0
    retry: { attempts: 3, initial: 5s }
output: "\${{ steps.words.object }}"
`,
  },
  {
    id: "approval",
    name: "Ask before it is done",
    description:
      "A person looks at what was found, fills in a form and decides; what follows depends on the answer.",
    tags: ["approval"],
    needs: "",
    definition: `inputs:
  type: object
  properties:
    region:
      type: string
      enum: [north, east, south, west]
      default: north
    discount:
      type: integer
      minimum: 1
      maximum: 50
      default: 10
      description: In percent.
steps:
  - id: customers
    type: sql
    database: shop
    query: SELECT id, name FROM customers WHERE region = :region ORDER BY name
    params: { region: "\${{ inputs.region }}" }
  - id: approve
    type: approval
    message: Give \${{ steps.customers.row_count }} customers in the \${{ inputs.region }} a discount of \${{ inputs.discount }} %?
    form:
      type: object
      properties:
        budget: { type: string, title: Which budget pays?, enum: [sales, marketing] }
        until: { type: string, format: date, title: Until when? }
        note: { type: string, title: A note for the team, maxLength: 1000 }
      required: [budget]
    timeout: 2d
  - id: granted
    type: set
    if: steps.approve.approved
    for_each: steps.customers.rows
    values:
      customer: "\${{ item.name }}"
      discount: "\${{ inputs.discount }}"
output:
  approved: "\${{ steps.approve.approved }}"
  customers: "\${{ steps.approve.approved ? steps.granted.items.map(i, i.customer) : [] }}"
`,
  },
  {
    id: "tell",
    name: "Tell the team",
    description:
      "Posts to a web hook with a secret, tries again when that fails, and writes a mail when it still does.",
    tags: ["notify"],
    needs: "a secret called team_hook for hooks.example.com, and mail to example.com",
    definition: `inputs:
  type: object
  properties:
    text: { type: string, default: The numbers are in., maxLength: 2000 }
  required: [text]
steps:
  - id: post
    type: http
    method: POST
    url: https://hooks.example.com/team
    headers: { Authorization: { secret: team_hook, prefix: "Bearer " } }
    body: { text: "\${{ inputs.text }}" }
    timeout: 10s
    retry: { attempts: 4, initial: 2s, on: [http_status, http_failed, timeout] }
    on_error: continue
  - id: mail
    type: email
    if: steps.post.error != null
    to: [team@example.com]
    subject: Millrace could not post to the team
    text: |
      \${{ inputs.text }}

      (The web hook failed: \${{ steps.post.error }})
    retry: { attempts: 3, initial: 10s }
output:
  posted: "\${{ steps.post.error == null }}"
`,
  },
  {
    id: "side-by-side",
    name: "Two queries, joined",
    description: "Asks two things side by side, and joins the rows of both in memory, across databases.",
    tags: ["sales", "customers"],
    needs: "",
    definition: `steps:
  - id: spent
    type: sql
    needs: []
    database: shop
    query: |
      SELECT o.customer_id, ROUND(SUM(i.quantity * i.price), 2) AS spent
      FROM orders o JOIN order_items i ON i.order_id = o.id
      WHERE o.status = 'paid'
      GROUP BY o.customer_id
  - id: customers
    type: sql
    needs: []
    database: shop
    query: SELECT id, name, region FROM customers
  - id: joined
    type: sql
    description: An empty DuckDB in memory; the rows of earlier steps are its tables.
    needs: [spent, customers]
    database: scratch
    tables:
      spent: "\${{ steps.spent.rows }}"
      customers: "\${{ steps.customers.rows }}"
    query: |
      SELECT c.name, c.region, CAST(s.spent AS DOUBLE) AS spent
      FROM customers c JOIN spent s ON s.customer_id = c.id
      ORDER BY spent DESC
      LIMIT 10
output: "\${{ steps.joined.rows }}"
`,
  },
];

/** With the least that runs: the editor shows at once what a definition looks like. */
export const BLANK_TEMPLATE: Template = {
  id: "scratch",
  name: "",
  description: "",
  tags: [],
  needs: "",
  definition: `steps:
  - id: hello
    type: set
    values: { text: Good morning }
output: "\${{ steps.hello.text }}"
`,
};
