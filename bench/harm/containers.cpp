// SPDX-License-Identifier: MIT
// A vector that grows by push_back, a map, strings: containers [STEPS].
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

static double grow_vector()
{
    std::vector<double> values;
    for (int i = 0; i < 300000; i++)
        values.push_back(i * 0.5);
    return values.back();
}

static long fill_map()
{
    std::map<int, std::string> names;
    for (int i = 0; i < 5000; i++)
        names[i * 7919 % 10007] = "name " + std::to_string(i) + " that does not fit into the string itself";
    return static_cast<long>(names.begin()->second.size());
}

static long join_strings()
{
    std::string text;
    for (int i = 0; i < 100000; i++)
        text += "a piece;";
    return static_cast<long>(text.size());
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? std::atol(argv[1]) : 100;
    double sum = 0;
    for (long i = 0; i < steps; i++)
        sum += grow_vector() + static_cast<double>(fill_map() + join_strings());
    return sum < 0;
}
